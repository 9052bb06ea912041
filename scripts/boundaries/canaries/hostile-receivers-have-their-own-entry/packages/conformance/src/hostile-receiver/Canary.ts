export const listen = 1
