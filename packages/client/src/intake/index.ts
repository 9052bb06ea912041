export {
  type EventPublication,
  IntakeClient,
  type IntakeClientOptions,
  type IntakeReport,
  type PublishOptions,
  type ReportedEvent
} from "./IntakeClient.ts"
