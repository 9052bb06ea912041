/** The client that a list is asked for. */
export const clientNamed = (text: string | undefined): string | undefined => text
