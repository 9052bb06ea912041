import { egg } from "./Egg.ts"

export const chicken = () => egg
