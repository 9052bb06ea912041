interface BuiltFile {
  readonly name: string
  readonly bytes: number
  readonly gzip: number
}
export declare function buildPages(): Promise<Array<BuiltFile>>
export declare function buildPage(directory: string, from?: string): Promise<Array<BuiltFile>>
