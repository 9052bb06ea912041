export const code = "AF"
