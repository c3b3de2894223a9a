/**
 * Values as JSON, for worlds and processes that share only text: plain data, the types of structured clone, and cycles.
 * `others` codes what only the caller can (functions, promises, symbols).
 */
export type Coded = null | boolean | number | string | [tag: string, ...parts: unknown[]]

export interface Others {
  /** Undefined: the value cannot be cloned. */
  code(value: unknown): Coded | undefined
  decode(coded: readonly [tag: string, ...parts: unknown[]]): unknown
}

/** Refuses everything that a structured clone refuses. */
export const noOthers: Others = { code: () => undefined, decode: () => undefined }

const typedArrays = { Uint8Array, Int8Array, Uint16Array, Int16Array, Uint32Array, Int32Array, Float64Array }

/** Electron's message. */
export const uncloneable = 'An object could not be cloned.'

export function code(value: unknown, others: Others): Coded {
  const seen = new Map<object, number>()

  function visit(each: unknown): Coded {
    if (each === null || typeof each === 'boolean' || typeof each === 'string') return each
    if (each === undefined) return ['undefined']
    if (typeof each === 'number')
      return Number.isFinite(each) && !Object.is(each, -0)
        ? each
        : ['number', Object.is(each, -0) ? '-0' : `${each}`]
    if (typeof each === 'bigint') return ['bigint', `${each}`]
    if (typeof each === 'object') {
      const known = seen.get(each)
      if (known !== undefined) return ['seen', known]
      seen.set(each, seen.size)
    }
    const other = others.code(each)
    if (other !== undefined) return other
    if (typeof each !== 'object') throw new Error(uncloneable)
    return object(each)
  }

  function object(each: object): Coded {
    if (Array.isArray(each)) return ['array', Array.from(each, visit)]
    const kind = Object.prototype.toString.call(each).slice(8, -1)
    if (kind === 'Date') return ['date', Number(each)]
    if (kind === 'RegExp') return ['regexp', (each as RegExp).source, (each as RegExp).flags]
    if (kind === 'Map') return ['map', [...(each as Map<unknown, unknown>)].map(pair => pair.map(visit))]
    if (kind === 'Set') return ['set', [...(each as Set<unknown>)].map(visit)]
    if (kind === 'Error') return ['error', String((each as Error).message)]
    if (kind === 'ArrayBuffer') return ['buffer', base64(new Uint8Array(each as ArrayBuffer))]
    if (ArrayBuffer.isView(each) && kind in typedArrays)
      return ['bytes', kind, base64(new Uint8Array(each.buffer, each.byteOffset, each.byteLength))]
    // The prototype of a class instance is lost.
    if (kind === 'Object' || kind === 'Arguments')
      return ['object', Object.entries(each).map(([key, part]) => [key, visit(part)])]
    throw new Error(uncloneable)
  }

  return visit(value)
}

export function decode(coded: Coded, others: Others): unknown {
  const seen: unknown[] = []

  function keep<Value>(value: Value): Value {
    seen.push(value)
    return value
  }

  function visit(each: Coded): unknown {
    if (!Array.isArray(each)) return each
    const [tag, first, second] = each
    const parts = first as Coded[]
    switch (tag) {
      case 'undefined':
        return undefined
      case 'number':
        return Number(first)
      case 'bigint':
        return BigInt(String(first))
      case 'seen':
        return seen[Number(first)]
      case 'array': {
        const array = keep<unknown[]>([])
        for (const part of parts) array.push(visit(part))
        return array
      }
      case 'object': {
        const made = keep({})
        for (const [key, part] of first as [string, Coded][]) define(made, key, visit(part))
        return made
      }
      case 'map': {
        const map = keep(new Map())
        for (const [key, part] of first as [Coded, Coded][]) map.set(visit(key), visit(part))
        return map
      }
      case 'set': {
        const set = keep(new Set())
        for (const part of parts) set.add(visit(part))
        return set
      }
      case 'date':
        return keep(new Date(Number(first)))
      case 'regexp':
        return keep(new RegExp(String(first), String(second)))
      case 'error':
        return keep(new Error(String(first)))
      case 'buffer':
        return keep(bytesOf(String(first)).buffer)
      case 'bytes': {
        const Kind = typedArrays[first as keyof typeof typedArrays]
        return keep(new Kind(bytesOf(String(second)).buffer))
      }
      case 'promise':
        return keep(others.decode(each))
      default:
        return others.decode(each)
    }
  }

  return visit(coded)
}

/** Defines an own property of any name, even `__proto__`. */
function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

function base64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(text)
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), letter => letter.charCodeAt(0))
}
