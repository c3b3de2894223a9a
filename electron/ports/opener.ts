/** Opens addresses in the user's browser. */
export interface Opener {
  /** Opens an http or https address; refuses any other. */
  openLink(url: string): Promise<void>
  /** The same for an address with a secret, which must not appear in a command line that other users can list. */
  openPrivately(url: string): Promise<void>
}
