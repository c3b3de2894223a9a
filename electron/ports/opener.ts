/** Hands things over to the rest of the desktop. */
export interface Opener {
  /** Opens an http or https address in the user's browser; anything else is refused. */
  openLink(url: string): Promise<void>
}
