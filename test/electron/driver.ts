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

/** Berth as a person has it before them, whether Electron is real or doubled: what the specs see and do. */
export interface Driver {
  /** The window's page. */
  page(): Promise<Page>
  /** Errors of the page's own scripts, and what it wrote to the console as errors. */
  errors(): string[]
  /** Whether the window is on screen; undefined when there is none. */
  windowVisible(): Promise<boolean | undefined>
  closeWindow(): Promise<void>
  /** Drops a file or a folder of this machine on the window's page, there. */
  drop(path: string, at: { x: number; y: number }): Promise<void>
  /** The tray's menu; undefined without a tray. */
  trayMenu(): Promise<SeenItem[] | undefined>
  clickTray(): Promise<void>
  /** Clicks the entry whose label, and those of the menus it is in, begin so. */
  clickMenu(path: readonly string[]): Promise<void>
  notifications(): Promise<SeenNotification[]>
  clickNotification(at: number): Promise<void>
  /** A click on the button with that label. */
  clickAction(at: number, label: string): Promise<void>
  /** What was copied last, if anything. */
  copied(): Promise<string>
  /** The questions that are on screen, oldest first. */
  questions(): Promise<SeenQuestion[]>
  /** Answers the oldest by the button whose label begins so. */
  answer(label: string): Promise<void>
  /** Starts Berth again on the same home; gives the second process's exit code. */
  startAgain(args?: readonly string[]): Promise<number | null>
  /** Calls a handler of the page's as Chromium would; each gives what it allowed. */
  handlers: {
    navigates(kind: 'will-navigate' | 'will-redirect' | 'will-frame-navigate', url: string): Promise<boolean>
    opens(url: string): Promise<'allow' | 'deny' | undefined>
    attachesWebview(src: string): Promise<boolean>
    /** Whether a page at that address is granted the permission it asks for. */
    grants(permission: string, url: string): Promise<boolean>
  }
  quit(): Promise<void>
  /** The exit code, once Berth has ended. */
  ended: Promise<number | null>
  stop(): Promise<void>
}

/** What a spec starts Berth with. */
export interface Start {
  env: NodeJS.ProcessEnv
  flags: readonly string[]
}
