export const method = 1
