// Preloaded into a server process: its clock is as many seconds off as CHAOS_CLOCK_SHIFT_SECONDS says.
const shift = Number(process.env.CHAOS_CLOCK_SHIFT_SECONDS ?? "0") * 1000

if (shift !== 0) {
  const RealDate = Date
  class ShiftedDate extends RealDate {
    constructor(...given) {
      if (given.length === 0) super(RealDate.now() + shift)
      else super(...given)
    }
    static now() {
      return RealDate.now() + shift
    }
  }
  globalThis.Date = ShiftedDate
  const origin = performance.timeOrigin
  Object.defineProperty(performance, "timeOrigin", { get: () => origin + shift })
}
