/** The desktop's handler for `berth://` links. */
export interface Links {
  /** Unregisters Berth until its next start. Rejects if that cannot be written. */
  withdraw(): Promise<void>
}
