// Preloaded into the program that a launcher starts: when the launcher dies, however it dies, so does the program.
// The program's own children inherit the flag and are left alone.
if (process.channel && process.env.WAYBILL_LAUNCHER === String(process.ppid)) {
  process.channel.unref()
  process.once("disconnect", () => {
    process.kill(process.pid, "SIGTERM")
    setTimeout(() => process.kill(process.pid, "SIGKILL"), 5_000).unref()
  })
}
