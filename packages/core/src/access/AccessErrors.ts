/** How finding out who calls, and what they may, can fail. */
import { Schema } from "effect"
import { quotas } from "./model/Limits.ts"

/** No credentials came, or none that are valid. One answer for all reasons, so that guessing learns nothing. */
export class Unauthenticated extends Schema.TaggedError<Unauthenticated>()("Unauthenticated", {
  /** Whether any credential was sent at all. */
  presented: Schema.Boolean,
  /** Why they do not hold, such as `JWT expired`: for the log of the service, never for the caller. */
  reason: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return this.presented
      ? "The credentials are not valid here. Check the API key or token, or ask the operator for a new one."
      : "Send an API key in X-API-Key, or a JWT as a bearer token."
  }
}

/** The caller is known but may not do this. */
export class NotPermitted extends Schema.TaggedError<NotPermitted>()("NotPermitted", {
  needed: Schema.String
}) {
  override get message(): string {
    return `This needs the role ${this.needed}. Ask the operator for a key that has it.`
  }
}

/** A read-only operator key asked for more than it may: a write, or the body of a delivery. */
export class OperatorReadOnly extends Schema.TaggedError<OperatorReadOnly>()("OperatorReadOnly", {
  refused: Schema.Literals(["write", "body"])
}) {
  override get message(): string {
    return this.refused === "write"
      ? "This operator key is read-only and cannot change anything. Use an operator key that may write."
      : "This operator key is read-only and cannot read bodies of deliveries. Use an operator key that may write."
  }
}

/** What decides on credentials could not be asked, which says nothing about the credentials. */
export class AuthenticationUnavailable extends Schema.TaggedError<AuthenticationUnavailable>()("AuthenticationUnavailable", {
  /** What failed, such as `JWKS fetch`. */
  operation: Schema.String,
  /** For the log only. */
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `${this.operation} failed. The credentials could not be checked. Try again.`
  }
}

/** No tenant of this id. Only operators can meet this. */
export class TenantNotFound extends Schema.TaggedError<TenantNotFound>()("TenantNotFound", { tenantId: Schema.String }) {
  override get message(): string {
    return `No tenant ${this.tenantId}. Create it with PUT /operator/v1/tenants/${this.tenantId}.`
  }
}

/** The operator suspended the tenant: its calls are refused and nothing is sent. */
export class TenantSuspended extends Schema.TaggedError<TenantSuspended>()("TenantSuspended", { tenantId: Schema.String }) {
  override get message(): string {
    return `Tenant ${this.tenantId} is suspended. Ask the operator of the service to resume it.`
  }
}

/** A deleted tenant of this id is still being removed. Only operators can meet this. */
export class TenantBeingRemoved extends Schema.TaggedError<TenantBeingRemoved>()("TenantBeingRemoved", { tenantId: Schema.String }) {
  override get message(): string {
    return `Tenant ${this.tenantId} was deleted and is still being removed. Try again in some minutes, or take another id.`
  }
}

/** No client of this name in the tenant. Only operators can meet this. */
export class ClientNotFound extends Schema.TaggedError<ClientNotFound>()("ClientNotFound", { client: Schema.String }) {
  override get message(): string {
    return `No client ${this.client} in this tenant. It may have been removed already. GET …/clients lists those there are.`
  }
}

/** No live API key of this id in the tenant. */
export class ApiKeyNotFound extends Schema.TaggedError<ApiKeyNotFound>()("ApiKeyNotFound", { id: Schema.String }) {
  override get message(): string {
    return `No live API key ${this.id} in this tenant. It may have been revoked already.`
  }
}

/** A counted quota is used up: what already exists has to go first, or the operator raises the quota. */
export class QuotaExceeded extends Schema.TaggedError<QuotaExceeded>()("QuotaExceeded", {
  /** Its name in the tenant's limits. */
  quota: Schema.Literals(quotas),
  limit: Schema.Number
}) {
  override get message(): string {
    return `The quota ${this.quota} of ${this.limit} is used up. Remove what is no longer needed, or ask the operator to raise it.`
  }
}

/** A quota of what happens in a second or at the same time is used up for now. */
export class RateExceeded extends Schema.TaggedError<RateExceeded>()("RateExceeded", {
  /** Its name in the tenant's limits; `failedCredentials` is the same for all. */
  quota: Schema.Literals([...quotas, "failedCredentials"]),
  limit: Schema.Number,
  retryAfterSeconds: Schema.Int
}) {
  override get message(): string {
    return `The quota ${this.quota} of ${this.limit} is used up for now. Try again in ${this.retryAfterSeconds} second${
      this.retryAfterSeconds === 1 ? "" : "s"
    }.`
  }
}

/** A client asked more often than it may. */
export class TooManyCalls extends Schema.TaggedError<TooManyCalls>()("TooManyCalls", {
  retryAfterSeconds: Schema.Int
}) {
  override get message(): string {
    return `Too many calls. Try again in ${this.retryAfterSeconds} second${this.retryAfterSeconds === 1 ? "" : "s"}.`
  }
}
