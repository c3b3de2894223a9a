import type { IpcRendererEvent } from 'electron'
import { type Coded, code, decode, noOthers, uncloneable } from './codec.ts'
import { Crossing } from './crossing.ts'

declare global {
  /** The way out of the page, in this world alone: put there by the process that shows it. */
  var berthDoubleOut: ((text: string) => void) | undefined
  /** The way in, for messages as JSON. */
  var berthDoubleIn: ((messages: string) => void) | undefined
  /** The path of what a test drops, which Chromium tells no script. */
  var berthDoubleDropped: string | undefined
  /** Runs the built preload with the `require` of a sandboxed one. */
  var berthDoublePreload: ((require: (name: string) => unknown) => void) | undefined
}

/** A message between the two processes. */
export interface IpcMessage {
  channel: string
  args: Coded
}

type Listener = (event: IpcRendererEvent, ...args: unknown[]) => void

/** In a world of its own, before the page's first script: Electron's modules for the built preload. */
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
      /** The page's end offers one function first: the one that puts it on `window`. */
      exposeInMainWorld: (name: string, api: unknown) => void crossing.call(0, [name, api]),
    },
  }
  globalThis.berthDoublePreload?.(name => {
    if (name === 'electron') return electron
    throw new Error(`module not found: ${name}`)
  })
}

/** By Chromium's own algorithm, with Electron's words for what it refuses. */
function cloned(args: unknown[]): unknown[] {
  try {
    return structuredClone(args)
  } catch {
    throw new Error(uncloneable)
  }
}

if (window === window.top) start()
