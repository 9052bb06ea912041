import * as core from "@waybill/core"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Pool } from "pg"

export const row = [core, Effect, SqlClient, Pool]
