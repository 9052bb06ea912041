import { describeSchedules } from "./Schedules.ts"

describeSchedules(3)
