/** Errors of authentication, authorization and quotas. */
import { Schema } from "effect"
import { quotas } from "./model/Limits.ts"
import { taggedFailure } from "../shared/TaggedFailure.ts"

/** Credentials are missing or invalid. All causes give the same response, so that an attacker learns nothing from it. */
export class Unauthenticated extends taggedFailure<Unauthenticated>()("Unauthenticated", {
  /** Whether the request had any credentials. */
  presented: Schema.Boolean,
  /** Why the credentials are invalid, such as `JWT expired`. For the service's log only, never for the caller. */
  reason: Schema.optionalKey(Schema.String)
}, ({ presented }) =>
  presented
    ? "The credentials are not valid here. Check them, or ask the operator for new ones."
    : "The request has no credentials.") {}

/** The caller is known but lacks the role. */
export class NotPermitted extends taggedFailure<NotPermitted>()("NotPermitted", {
  needed: Schema.String
}, ({ needed }) => `This needs the role ${needed}. Ask the operator for access with that role.`) {}

/** A read-only operator asked for a write or for the body of a delivery. */
export class OperatorReadOnly extends taggedFailure<OperatorReadOnly>()("OperatorReadOnly", {
  refused: Schema.Literals(["write", "body"])
}, ({ refused }) =>
  refused === "write"
    ? "This operator is read-only and cannot change anything. Use an operator that may write."
    : "This operator is read-only and cannot read bodies of deliveries. Use an operator that may write.") {}

/** The credentials could not be checked, so nothing is known about them. */
export class AuthenticationUnavailable extends taggedFailure<AuthenticationUnavailable>()("AuthenticationUnavailable", {
  /** The operation that failed, such as `JWKS fetch`. */
  operation: Schema.String,
  /** For the log only. */
  cause: Schema.Defect()
}, ({ operation }) => `${operation} failed. The credentials could not be checked. Try again.`) {}

/** No tenant has this id. Only operators can get this error. */
export class TenantNotFound extends taggedFailure<TenantNotFound>()("TenantNotFound", { tenantId: Schema.String }, ({ tenantId }) =>
  `No tenant ${tenantId}. Check its id, or create it with PUT /operator/v1/tenants/${tenantId} or tenants.put.`) {}

/** The operator suspended the tenant. Its calls are refused and its deliveries are not sent. The message names no tenant: public lookups need no credentials. */
export class TenantSuspended extends taggedFailure<TenantSuspended>()("TenantSuspended", {
  tenantId: Schema.String,
  /** The caller, qualified, if its credentials are valid. For the audit log. */
  client: Schema.optionalKey(Schema.String)
}, () =>
  "The tenant is suspended. Ask the operator of the service to resume it.") {}

/** A deleted tenant with this id is still being removed. Only operators can get this error. */
export class TenantBeingRemoved extends taggedFailure<TenantBeingRemoved>()("TenantBeingRemoved", { tenantId: Schema.String }, ({ tenantId }) =>
  `Tenant ${tenantId} was deleted and is still being removed. Try again in a few minutes, or use another id.`) {}

/** No client has this name in the tenant. Only operators can get this error. */
export class ClientNotFound extends taggedFailure<ClientNotFound>()("ClientNotFound", { client: Schema.String }, ({ client }) =>
  `No client ${client} in this tenant. It may have been removed already. List the clients with GET …/clients.`) {}

/** No valid API key has this id in the tenant. */
export class ApiKeyNotFound extends taggedFailure<ApiKeyNotFound>()("ApiKeyNotFound", { id: Schema.String }, ({ id }) =>
  `No valid API key ${id} in this tenant. It may have been revoked already: take an id from the list of keys.`) {}

/** A quota on stored items is used up. Items must be removed, or the operator must raise the quota. */
export class QuotaExceeded extends taggedFailure<QuotaExceeded>()("QuotaExceeded", {
  /** Name of the quota in the tenant's limits. */
  quota: Schema.Literals(quotas),
  limit: Schema.Number
}, ({ limit, quota }) => `The quota ${quota} of ${limit} is used up. Remove what is no longer needed, or ask the operator to raise it.`) {}

/** A quota per second or on concurrent requests is used up for now. */
export class RateExceeded extends taggedFailure<RateExceeded>()("RateExceeded", {
  /** Name of the quota in the tenant's limits. `failedCredentials`, and those of large answers and of the bytes of bodies and responses, have the same limit for every tenant. */
  quota: Schema.Literals([...quotas, "failedCredentials", "largeAnswersPerClient", "bodyBytesPerClient", "bodyBytesPerProcess", "responseBytesPerClient", "responseBytesPerProcess"]),
  limit: Schema.Number,
  retryAfterSeconds: Schema.Int
}, ({ limit, quota, retryAfterSeconds }) =>
  `The quota ${quota} of ${limit} is used up for now. Try again in ${retryAfterSeconds} second${retryAfterSeconds === 1 ? "" : "s"}.`) {}
