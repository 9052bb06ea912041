/** Errors of authentication, authorization and quotas. */
import { Schema } from "effect"
import { quotas } from "./model/Limits.ts"

/** Credentials are missing or invalid. All causes give the same response, so that an attacker learns nothing from it. */
export class Unauthenticated extends Schema.TaggedError<Unauthenticated>()("Unauthenticated", {
  /** Whether the request had any credentials. */
  presented: Schema.Boolean,
  /** Why the credentials are invalid, such as `JWT expired`. For the service's log only, never for the caller. */
  reason: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return this.presented
      ? "The credentials are not valid here. Check them, or ask the operator for new ones."
      : "The request has no credentials."
  }
}

/** The caller is known but lacks the role. */
export class NotPermitted extends Schema.TaggedError<NotPermitted>()("NotPermitted", {
  needed: Schema.String
}) {
  override get message(): string {
    return `This needs the role ${this.needed}. Ask the operator for access with that role.`
  }
}

/** A read-only operator asked for a write or for the body of a delivery. */
export class OperatorReadOnly extends Schema.TaggedError<OperatorReadOnly>()("OperatorReadOnly", {
  refused: Schema.Literals(["write", "body"])
}) {
  override get message(): string {
    return this.refused === "write"
      ? "This operator is read-only and cannot change anything. Use an operator that may write."
      : "This operator is read-only and cannot read bodies of deliveries. Use an operator that may write."
  }
}

/** The credentials could not be checked, so nothing is known about them. */
export class AuthenticationUnavailable extends Schema.TaggedError<AuthenticationUnavailable>()("AuthenticationUnavailable", {
  /** The operation that failed, such as `JWKS fetch`. */
  operation: Schema.String,
  /** For the log only. */
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `${this.operation} failed. The credentials could not be checked. Try again.`
  }
}

/** No tenant has this id. Only operators can get this error. */
export class TenantNotFound extends Schema.TaggedError<TenantNotFound>()("TenantNotFound", { tenantId: Schema.String }) {
  override get message(): string {
    return `No tenant ${this.tenantId}. Check its id, or create it with PUT /operator/v1/tenants/${this.tenantId} or tenants.put.`
  }
}

/** The operator suspended the tenant. Its calls are refused and its deliveries are not sent. */
export class TenantSuspended extends Schema.TaggedError<TenantSuspended>()("TenantSuspended", { tenantId: Schema.String }) {
  override get message(): string {
    return `Tenant ${this.tenantId} is suspended. Ask the operator of the service to resume it.`
  }
}

/** A deleted tenant with this id is still being removed. Only operators can get this error. */
export class TenantBeingRemoved extends Schema.TaggedError<TenantBeingRemoved>()("TenantBeingRemoved", { tenantId: Schema.String }) {
  override get message(): string {
    return `Tenant ${this.tenantId} was deleted and is still being removed. Try again in a few minutes, or use another id.`
  }
}

/** No client has this name in the tenant. Only operators can get this error. */
export class ClientNotFound extends Schema.TaggedError<ClientNotFound>()("ClientNotFound", { client: Schema.String }) {
  override get message(): string {
    return `No client ${this.client} in this tenant. It may have been removed already. List the clients with GET …/clients.`
  }
}

/** No valid API key has this id in the tenant. */
export class ApiKeyNotFound extends Schema.TaggedError<ApiKeyNotFound>()("ApiKeyNotFound", { id: Schema.String }) {
  override get message(): string {
    return `No valid API key ${this.id} in this tenant. It may have been revoked already.`
  }
}

/** A quota on stored items is used up. Items must be removed, or the operator must raise the quota. */
export class QuotaExceeded extends Schema.TaggedError<QuotaExceeded>()("QuotaExceeded", {
  /** Name of the quota in the tenant's limits. */
  quota: Schema.Literals(quotas),
  limit: Schema.Number
}) {
  override get message(): string {
    return `The quota ${this.quota} of ${this.limit} is used up. Remove what is no longer needed, or ask the operator to raise it.`
  }
}

/** A quota per second or on concurrent requests is used up for now. */
export class RateExceeded extends Schema.TaggedError<RateExceeded>()("RateExceeded", {
  /** Name of the quota in the tenant's limits. `failedCredentials`, and those of large answers and of the bytes of bodies and responses, have the same limit for every tenant. */
  quota: Schema.Literals([...quotas, "failedCredentials", "largeAnswersPerClient", "bodyBytesPerClient", "bodyBytesPerProcess", "responseBytesPerClient", "responseBytesPerProcess"]),
  limit: Schema.Number,
  retryAfterSeconds: Schema.Int
}) {
  override get message(): string {
    return `The quota ${this.quota} of ${this.limit} is used up for now. Try again in ${this.retryAfterSeconds} second${
      this.retryAfterSeconds === 1 ? "" : "s"
    }.`
  }
}

/** A client ran more webhook tests than it may per minute. */
export class TooManyCalls extends Schema.TaggedError<TooManyCalls>()("TooManyCalls", {
  retryAfterSeconds: Schema.Int
}) {
  override get message(): string {
    return `Too many calls. Try again in ${this.retryAfterSeconds} second${this.retryAfterSeconds === 1 ? "" : "s"}.`
  }
}
