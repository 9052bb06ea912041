/** Hostile receivers on loopback, for testing webhook senders. Needs Node, and no test framework. */
export { type HostileName, type HostileUrl } from "./hostile-receiver/hostileAddresses.ts"
export { type HostileBehaviour, type HostileGroup, type HostileOutcome, type HostileRequest } from "./hostile-receiver/HostileBehaviour.ts"
export {
  type HostileBehaviourName,
  hostileBehaviours,
  type HostileReceiver,
  type HostileReceiverOptions,
  type HostileResolver,
  startHostileReceiver
} from "./hostile-receiver/startHostileReceiver.ts"
export { type Authority, type Certificate, type CertificateOptions, makeCertificate } from "./hostile-receiver/TestCertificates.ts"
