export declare const pageDirectory: string
export declare function buildPage(directory?: string): Promise<Array<{ readonly name: string; readonly bytes: number; readonly gzip: number }>>
