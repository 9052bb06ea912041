import { mailsSetBack } from "../ClockSetBack.ts"
import { freshSchema } from "../TestStorage.ts"

mailsSetBack(freshSchema())
