// npm run kubernetes: renders the Helm chart with each file of its folder ci, and checks the objects against Kubernetes' own schemas
// and their settings against the server's.
import { join } from "node:path"
import { fromSources, install, root, runOnPinnedNode } from "./workspace.mjs"

await install()
runOnPinnedNode([...fromSources, join(root, "scripts/kubernetes/check.mjs")])
