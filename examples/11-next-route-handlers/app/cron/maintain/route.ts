import { waybill } from "../../waybill.ts"

// your platform's scheduler calls it every hour
export const GET = async (request: Request) => {
  if (request.headers.get("authorization") !== "Bearer cron-secret") return new Response(null, { status: 401 })
  await waybill.maintain()
  return new Response(null, { status: 204 })
}
