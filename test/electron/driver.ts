import type { Page } from 'playwright-core'
import type { SeenItem } from './double/menu.ts'

export interface SeenNotification {
  title: string
  body: string
  actions: string[]
}

export interface SeenQuestion {
  message: string
  detail: string
  buttons: string[]
}

/** Berth as a user sees it, in real or doubled Electron: the observations and actions of the specs. */
export interface Driver {
  /** The window's page. */
  page(): Promise<Page>
  /** Errors of the page's scripts and on its console. */
  errors(): string[]
  /** Whether the window is visible; undefined without a window. */
  windowVisible(): Promise<boolean | undefined>
  closeWindow(): Promise<void>
  /** Drops a local file or folder on the window's page at a point. */
  drop(path: string, at: { x: number; y: number }): Promise<void>
  /** The tray's menu; undefined without a tray. */
  trayMenu(): Promise<SeenItem[] | undefined>
  clickTray(): Promise<void>
  /** Clicks an entry, found by the beginnings of the labels on its path. */
  clickMenu(path: readonly string[]): Promise<void>
  notifications(): Promise<SeenNotification[]>
  clickNotification(at: number): Promise<void>
  /** Clicks the button with that label. */
  clickAction(at: number, label: string): Promise<void>
  /** The text copied last, or ''. */
  copied(): Promise<string>
  /** The message boxes on screen, oldest first. */
  questions(): Promise<SeenQuestion[]>
  /** Answers the oldest question by the beginning of a button's label. */
  answer(label: string): Promise<void>
  /** Starts Berth again on the same home; gives the second process's exit code. */
  startAgain(args?: readonly string[]): Promise<number | null>
  /** Call the page's handlers as Chromium would; each gives whether it allows that. */
  handlers: {
    navigates(kind: 'will-navigate' | 'will-redirect' | 'will-frame-navigate', url: string): Promise<boolean>
    opens(url: string): Promise<'allow' | 'deny' | undefined>
    attachesWebview(src: string): Promise<boolean>
    /** Whether a page at that URL gets a permission. */
    grants(permission: string, url: string): Promise<boolean>
  }
  quit(): Promise<void>
  /** Resolves with the exit code when Berth ends. */
  ended: Promise<number | null>
  stop(): Promise<void>
}

/** The environment and flags of a start. */
export interface Start {
  env: NodeJS.ProcessEnv
  flags: readonly string[]
}
