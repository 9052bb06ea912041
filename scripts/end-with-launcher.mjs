// Preloaded into the program that a launcher starts: ends the program when the launcher dies for any reason.
// The program's own children inherit the flag and are not affected.
if (process.channel && process.env.WAYBILL_LAUNCHER === String(process.ppid)) {
  process.channel.unref()
  process.once("disconnect", () => {
    // SIGINT, which does not wait for load balancers: the launcher may be started again on the same port
    process.kill(process.pid, "SIGINT")
    setTimeout(() => process.kill(process.pid, "SIGKILL"), 5_000).unref()
  })
}
