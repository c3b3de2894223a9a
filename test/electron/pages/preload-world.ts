import type { IpcRendererEvent } from 'electron'
import { type Coded, code, decode, noOthers, uncloneable } from './codec.ts'
import { Crossing } from './crossing.ts'

declare global {
  /** Sends messages out of the page; defined only in this world, by the process that shows the page. */
  var berthDoubleOut: ((text: string) => void) | undefined
  /** Receives messages as JSON. */
  var berthDoubleIn: ((messages: string) => void) | undefined
  /** The path of the file a test drops, which Chromium hides from scripts. */
  var berthDoubleDropped: string | undefined
  /** Runs the built preload with the `require` of a sandboxed preload. */
  var berthDoublePreload: ((require: (name: string) => unknown) => void) | undefined
}

/** A message between the two processes. */
export interface IpcMessage {
  channel: string
  args: Coded
}

type Listener = (event: IpcRendererEvent, ...args: unknown[]) => void

/** In the preload's world, before the page's first script: provides Electron's modules. */
function start(): void {
  const out = globalThis.berthDoubleOut
  if (out === undefined) return
  const listeners = new Map<string, Listener[]>()
  globalThis.berthDoubleIn = messages => {
    for (const { channel, args } of JSON.parse(messages) as IpcMessage[]) {
      const values = decode(args, noOthers) as unknown[]
      for (const listener of listeners.get(channel) ?? []) listener({} as IpcRendererEvent, ...values)
    }
  }
  const leaving: IpcMessage[] = []
  const send = (channel: string, args: Coded) => {
    if (leaving.push({ channel, args }) === 1) queueMicrotask(() => out(JSON.stringify(leaving.splice(0))))
  }

  const node = document.createElement('i')
  const crossing = new Crossing(node, 'preload', 'page')
  dispatchEvent(new MouseEvent('berth-double-handover', { relatedTarget: node }))

  const electron = {
    webUtils: { getPathForFile: () => globalThis.berthDoubleDropped ?? '' },
    ipcRenderer: {
      on: (channel: string, listener: Listener) =>
        void listeners.set(channel, [...(listeners.get(channel) ?? []), listener]),
      send: (channel: string, ...args: unknown[]) => send(channel, code(cloned(args), noOthers)),
    },
    contextBridge: {
      /** The page's end offers its function that defines properties of `window` first, as number 0. */
      exposeInMainWorld: (name: string, api: unknown) => void crossing.call(0, [name, api]),
    },
  }
  globalThis.berthDoublePreload?.(name => {
    if (name === 'electron') return electron
    throw new Error(`module not found: ${name}`)
  })
}

/** A structured clone, with Electron's message on failure. */
function cloned(args: unknown[]): unknown[] {
  try {
    return structuredClone(args)
  } catch {
    throw new Error(uncloneable)
  }
}

if (window === window.top) start()
