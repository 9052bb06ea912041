import { client } from "../../../client/src/asked.ts"

export const asked = client
