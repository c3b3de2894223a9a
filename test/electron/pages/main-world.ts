import { Crossing } from './crossing.ts'

/** In the page's world, before its first script: takes the node from the preload's world, once. */
if (window === window.top) {
  addEventListener(
    'berth-double-handover',
    event => {
      event.stopImmediatePropagation()
      const node = (event as MouseEvent).relatedTarget
      if (node === null) return
      const crossing = new Crossing(node, 'page', 'preload')
      crossing.offer((name, api) => {
        // As in Electron, the page cannot replace what is exposed.
        Object.defineProperty(window, String(name), { value: freeze(api), enumerable: true })
      })
    },
    { once: true, capture: true },
  )
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  for (const part of Object.values(value)) freeze(part)
  return Object.freeze(value)
}
