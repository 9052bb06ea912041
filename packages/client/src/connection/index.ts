export { type CallOptions, type ConnectionOptions, type Credential } from "./Connection.ts"
export { type NumberedPage } from "./NumberedPages.ts"
export { defaultRetryPolicy, type RetryPolicy } from "./RetryPolicy.ts"
export { type CallFailure, type FailedCall, type ProblemFault, WaybillCallFailed, WaybillProblem } from "./WaybillProblem.ts"
