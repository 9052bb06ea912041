import { waybill } from "../../waybill.ts"

// called every minute by whatever your platform has for that
export const GET = async (request: Request) => {
  if (request.headers.get("authorization") !== "Bearer cron-secret") return new Response(null, { status: 401 })
  return Response.json({ attempts: await waybill.runOnce() })
}
