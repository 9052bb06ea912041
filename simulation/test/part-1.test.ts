import { describeSchedules } from "./Schedules.ts"

describeSchedules(1)
