/** What of this desktop brings `berth://` links here. */
export interface Links {
  /** Has it forget Berth, until Berth is started again. Rejects where it cannot be written. */
  withdraw(): Promise<void>
}
