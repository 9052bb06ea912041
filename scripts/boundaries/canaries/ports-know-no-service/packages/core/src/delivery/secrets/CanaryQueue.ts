import type { Worker } from "../Worker.ts"

export type Asked = Worker
