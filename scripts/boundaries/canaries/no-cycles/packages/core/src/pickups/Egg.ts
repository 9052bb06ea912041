import { chicken } from "./Chicken.ts"

export const egg = () => chicken
