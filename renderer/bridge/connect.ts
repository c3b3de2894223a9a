import type { Bridge } from '#contract/messages.ts'
import type { State } from '#shared/state.ts'
import { BerthLink } from './link.ts'
import { type Reach, SocketBridge } from './socket.ts'

declare global {
  interface Window {
    /** Set by Electron's preload; absent in browser mode. */
    berth?: Bridge
  }
}

/** Receivers of the main process's messages. */
export interface Follower {
  /** Undefined until the main process has sent it. */
  state: State | undefined
  reach: Reach
}

/** The page's connection to the main process, which may have answered before anybody follows it. */
export interface PageConnection {
  readonly link: BerthLink
  /** Tells the follower how things are, and from then on how they change. */
  follow(follower: Follower): void
}

/** Connects the page to the main process. Undefined where the page has neither a preload nor a token. */
export function connect(): PageConnection | undefined {
  let current: Follower = { state: undefined, reach: 'connecting' }
  const onState = (state: State) => {
    current.state = state
  }
  const connection = (link: BerthLink): PageConnection => {
    link.open()
    return {
      link,
      follow(follower) {
        follower.state = current.state
        follower.reach = current.reach
        current = follower
      },
    }
  }

  if (window.berth) {
    current.reach = 'connected'
    return connection(new BerthLink(window.berth, onState))
  }
  const token = takeToken(window)
  if (token === undefined) return undefined
  const secure = location.protocol === 'https:' ? 'wss' : 'ws'
  const socket = new SocketBridge(`${secure}://${location.host}/socket`, token, reach => {
    current.reach = reach
    if (reach === 'ended') forgetToken(window)
    if (reach === 'connected') link.sync()
    else link.drop()
  })
  const link = new BerthLink(socket, onState)
  return connection(link)
}

/** The sessionStorage entry that keeps the token for a reload of this tab; other tabs cannot see it. */
const tokenKey = 'berth-token'

/**
 * The browser mode's token. It comes in the address's fragment, which is cleared at once so that it is neither
 * seen nor bookmarked. Undefined when the page was opened without it.
 */
export function takeToken(page: Pick<Window, 'location' | 'history' | 'sessionStorage'>): string | undefined {
  const fragment = page.location.hash.slice(1)
  if (fragment === '' || fragment.startsWith('/')) return page.sessionStorage.getItem(tokenKey) ?? undefined
  page.sessionStorage.setItem(tokenKey, fragment)
  page.history.replaceState(null, '', '#/')
  return fragment
}

/** Deletes the token, once the Berth that it belongs to has ended. */
function forgetToken(page: Pick<Window, 'sessionStorage'>): void {
  page.sessionStorage.removeItem(tokenKey)
}
