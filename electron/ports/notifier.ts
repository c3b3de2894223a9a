/** A native notification. Texts are plain: implementations escape their platform's markup. */
export interface Notice {
  /** A later notice with the same id replaces the earlier one. */
  id: string
  title: string
  body: string
  urgency: 'low' | 'normal' | 'critical'
  /** Buttons, if the platform has them; at most three. */
  actions: readonly { id: string; label: string }[]
}

/** `action` is undefined for a click on the notice itself. */
export type NoticeClick = (noticeId: string, action: string | undefined) => void

export interface Notifier {
  /** Whether this machine shows notifications; otherwise the page does. */
  readonly available: boolean
  show(notice: Notice): Promise<void>
  close(id: string): Promise<void>
  onClick(listener: NoticeClick): void
}
