import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { at } from '#build/places.ts'
import { listen } from '#test/loopback.ts'

/** The content and sizes for the control, read from Berth's own table in the same window. */
export interface DrawnTable {
  /** Pixels of the table's visible part. */
  width: number
  height: number
  /** Width of each column in pixels; the last is the button's. */
  columns: { width: number; figure: boolean }[]
  /** Rows as Berth drew them, as HTML. */
  rows: string[]
}

/** A bare server with an empty page and Berth's styles and fonts. */
export async function servePlainPage(): Promise<{ address: string; close(): Promise<void> }> {
  const assets = at('dist/renderer/assets')
  const names = await readdir(assets)
  const sheets = names.filter(name => name.endsWith('.css'))
  const links = sheets.map(name => `<link rel="stylesheet" href="/assets/${name}">`).join('')
  const server = createServer(async (request, response) => {
    const name = names.find(each => request.url === `/assets/${each}`)
    if (name?.endsWith('.css')) response.setHeader('content-type', 'text/css')
    else if (!name) response.setHeader('content-type', 'text/html')
    response.end(
      name ? await readFile(join(assets, name)) : `<!doctype html><title>Rows</title>${links}<body>`,
    )
  })
  const port = await listen(server)
  return {
    address: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** Reads the table of offers on Berth's page, with a sample of its rows from top to bottom. */
export async function readTable(page: Page): Promise<DrawnTable> {
  return page.evaluate(async () => {
    const scroller = document.querySelector<HTMLElement>('.scroller')
    if (!scroller) throw new Error('nothing scrolls')
    const heads = [...scroller.querySelectorAll('th')]
    const rows = new Map<string, string>()
    const steps = 12
    for (let step = 0; step < steps; step += 1) {
      scroller.scrollTop = (step / steps) * scroller.scrollHeight
      await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))
      for (const row of scroller.querySelectorAll<HTMLElement>('tr[data-offer]')) {
        rows.set(row.dataset['offer'] ?? '', row.outerHTML)
      }
    }
    scroller.scrollTop = 0
    return {
      width: scroller.clientWidth,
      height: scroller.clientHeight,
      columns: heads.map(head => ({
        width: head.getBoundingClientRect().width,
        figure: head.classList.contains('figure'),
      })),
      rows: [...rows.values()],
    }
  })
}

/**
 * In the page: draws `count` rows of those cells in the plainest way. It has elements for the visible rows only, placed
 * absolutely and rewritten for other rows, a field that filters, and heads that sort.
 */
export function drawPlainRows({ table, count }: { table: DrawnTable; count: number }): void {
  const height = 36
  const scroller = document.createElement('div')
  scroller.className = 'scroller'
  scroller.style.cssText = `position:relative;width:${table.width}px;height:${table.height - 30}px;overflow:auto;flex:none;overflow-anchor:none`
  const field = document.createElement('input')
  field.setAttribute('aria-label', 'Find in offers')
  const heads = document.createElement('div')
  heads.className = 'heads'
  heads.style.cssText = 'display:flex;height:30px'
  const space = document.createElement('div')
  scroller.append(space)
  document.body.append(field, heads, scroller)

  const holder = document.createElement('template')
  holder.innerHTML = `<table>${table.rows.join('')}</table>`
  const comments = document.createNodeIterator(holder.content, NodeFilter.SHOW_COMMENT)
  for (let each = comments.nextNode(); each; each = comments.nextNode()) (each as Comment).remove()
  holder.content.normalize()
  /** Elements and texts in the document's order. */
  function partsOf(row: Element): (Element | Text)[] {
    const walker = document.createTreeWalker(row, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
    const parts = []
    while (walker.nextNode()) parts.push(walker.currentNode as Element | Text)
    return parts
  }
  const attributes = ['class', 'title', 'aria-label', 'hidden']
  const said = (part: Element | Text): (string | null)[] =>
    part instanceof Text ? [part.data] : attributes.map(name => part.getAttribute(name))
  function say(part: Element | Text, what: number, value: string | null): void {
    if (part instanceof Text) part.data = value ?? ''
    else if (value === null) part.removeAttribute(attributes[what] ?? '')
    else part.setAttribute(attributes[what] ?? '', value)
  }
  const shape = (row: Element) =>
    partsOf(row)
      .map(part => part.nodeName)
      .join(' ')
  const drawn = [...holder.content.querySelectorAll('tr')]
  const [model] = drawn
  if (!model) throw new Error('Berth drew no rows')
  // Only rows with the same elements can be recycled.
  const samples = drawn
    .filter(row => shape(row) === shape(model))
    .map(row => ({
      parts: partsOf(row).map(said),
      cells: [...row.cells].map(cell => cell.textContent.trim()),
    }))
  if (samples.length < drawn.length / 2) throw new Error('Berth draws its rows with different elements')

  const all = Array.from({ length: count }, (_, index) => {
    const { parts, cells } = samples[index % samples.length] ?? { parts: [], cells: [] }
    const numbers = cells.map(text => Number.parseFloat(text.replace(/[^\d.]/g, '')) + index / count)
    return { parts, numbers, text: cells.join(' ').toLowerCase() }
  })
  let shown = all
  const slots = Array.from({ length: Math.ceil(table.height / height) + 1 }, () => {
    const row = document.createElement('div')
    row.style.cssText = `position:absolute;top:0;left:0;right:0;height:${height}px;line-height:${height}px;border-bottom:1px solid var(--line)`
    const copy = model.cloneNode(true) as typeof model
    const parts = partsOf(copy)
    let left = 0
    for (const [at, { width, figure }] of table.columns.entries()) {
      const cell = copy.cells[0]
      if (!cell) throw new Error(`Berth has no cell ${at}`)
      cell.style.cssText = `position:absolute;left:${left}px;width:${width - 12}px;height:100%;overflow:hidden;white-space:nowrap;text-overflow:ellipsis;text-align:${figure ? 'right' : 'left'}`
      left += width
      row.append(cell)
    }
    scroller.append(row)
    return { row, parts, record: undefined as (typeof all)[number] | undefined, top: -1 }
  })
  function draw(): void {
    const first = Math.floor(scroller.scrollTop / height)
    for (let at = first; at < first + slots.length; at += 1) {
      const slot = slots[at % slots.length]
      const record = shown[at]
      if (!slot) continue
      if (slot.top !== at) slot.row.style.transform = `translateY(${at * height}px)`
      slot.top = at
      if (slot.record === record) continue
      const last = slot.record?.parts
      slot.record = record
      slot.row.hidden = record === undefined
      record?.parts.forEach((values, part) => {
        values.forEach((value, what) => {
          const target = slot.parts[part]
          if (target && last?.[part]?.[what] !== value) say(target, what, value)
        })
      })
    }
    space.style.height = `${shown.length * height}px`
  }
  scroller.addEventListener('scroll', draw)
  // As in Berth, a number does not match within a longer one, so that the same keys change the rows.
  const isDigit = (character = '') => character >= '0' && character <= '9'
  function hasWord(text: string, word: string): boolean {
    let at = text.indexOf(word)
    while (at > 0 && isDigit(word[0]) && isDigit(text[at - 1])) at = text.indexOf(word, at + 1)
    return at >= 0
  }
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(' ')
    shown = all.filter(({ text }) => words.every(word => hasWord(text, word)))
    draw()
  })
  let sign = 1
  table.columns.forEach(({ width }, column) => {
    const head = document.createElement('button')
    head.style.width = `${width}px`
    head.textContent = `Column ${column}`
    head.addEventListener('click', () => {
      sign = -sign
      shown = shown.toSorted((a, b) => sign * ((a.numbers[column] ?? 0) - (b.numbers[column] ?? 0)))
      scroller.scrollTop = 0
      draw()
    })
    heads.append(head)
  })
  draw()
}
