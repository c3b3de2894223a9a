import type { Bridge } from '../../electron/contract/bridge/messages.ts'
import { Link } from './link.ts'
import type { Page } from './page.svelte.ts'
import { SocketBridge } from './socket.ts'
import { forgetToken, takeToken } from './token.ts'

declare global {
  interface Window {
    /** Set by Electron's preload; absent in browser mode. */
    berth?: Bridge
  }
}

/** Connects the page to the main process. False where the page has neither a preload nor a token. */
export function connect(page: Page): boolean {
  const bridge = window.berth
  if (bridge) {
    const link = new Link(bridge, state => {
      page.state = state
    })
    page.attach(link)
    page.reach = 'connected'
    link.open()
    return true
  }
  const token = takeToken(window)
  if (token === undefined) return false
  const secure = location.protocol === 'https:' ? 'wss' : 'ws'
  const socket = new SocketBridge(`${secure}://${location.host}/socket`, token, reach => {
    page.reach = reach
    if (reach === 'ended') forgetToken(window)
    if (reach === 'connected') link.sync()
    else link.drop()
  })
  const link = new Link(socket, state => {
    page.state = state
  })
  page.attach(link)
  link.open()
  return true
}
