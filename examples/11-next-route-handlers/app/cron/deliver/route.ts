import { waybill } from "../../waybill.ts"

// your platform's scheduler calls it every minute; it ends before the platform ends it
export const GET = async (request: Request) => {
  if (request.headers.get("authorization") !== "Bearer cron-secret") return new Response(null, { status: 401 })
  return Response.json({ attempts: await waybill.runOnce({ forMillis: 40_000 }) })
}
