export const routeOf = (hash: string): string => hash
