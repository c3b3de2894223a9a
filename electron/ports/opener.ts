/** Hands things over to the rest of the desktop. */
export interface Opener {
  /** Opens an http or https address in the user's browser; anything else is refused. */
  openLink(url: string): Promise<void>
  /** The same for an address that holds a secret: no command line that others can list shows it. */
  openPrivately(url: string): Promise<void>
}
