/** A native notification. Text is plain: whoever shows it escapes what its platform would read as markup. */
export interface Notice {
  /** A later notice with the same id replaces the earlier one. */
  id: string
  title: string
  body: string
  urgency: 'low' | 'normal' | 'critical'
  /** Buttons, where the platform has them; at most three. */
  actions: readonly { id: string; label: string }[]
}

/** `action` is undefined when the notice itself was clicked. */
export type NoticeClick = (noticeId: string, action: string | undefined) => void

export interface Notifier {
  /** Whether this machine shows notifications; where it does not, the page shows them. */
  readonly available: boolean
  show(notice: Notice): Promise<void>
  close(id: string): Promise<void>
  onClick(listener: NoticeClick): void
}
