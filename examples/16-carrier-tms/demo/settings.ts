/** Settings for a demo on this machine. */
export const demoSettings = (databaseUrl: string): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  // for the demo only: openssl rand -base64 32
  SEALING_KEY: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
  PORT: "0",
  PROBES_PORT: "0",
  // the customer's system of the demo is on this machine, and has no https
  EGRESS_ALLOW: "127.0.0.1"
})
