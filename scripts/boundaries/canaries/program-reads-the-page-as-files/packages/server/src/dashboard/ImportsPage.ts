export { routeOf } from "../../dashboard/routes.ts"
