import { createServer } from "node:net"

export const listen = createServer
