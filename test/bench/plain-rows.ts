import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { at } from '../../build/places.ts'

/** One row as Berth drew it: what its cells say, and their tooltips. */
export interface DrawnRow {
  cells: { text: string; title: string }[]
}

/** What the control draws, and where: taken from Berth's own table in the same window. */
export interface DrawnTable {
  /** Pixels of the table's window. */
  width: number
  height: number
  /** Pixels of each column; the last one is the button's. */
  columns: { width: number; figure: boolean }[]
  rows: DrawnRow[]
}

/** A bare server of Berth's styles and fonts and of one empty page that uses them. */
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
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** Reads the table of offers on Berth's page, and some hundred of its rows, from its top to its end. */
export async function readTable(page: Page): Promise<DrawnTable> {
  return page.evaluate(async () => {
    const scroller = document.querySelector<HTMLElement>('.scroller')
    if (!scroller) throw new Error('nothing scrolls')
    const heads = [...scroller.querySelectorAll('th')]
    const rows = new Map<string, { cells: { text: string; title: string }[] }>()
    const steps = 12
    for (let step = 0; step < steps; step += 1) {
      scroller.scrollTop = (step / steps) * scroller.scrollHeight
      await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))
      for (const row of scroller.querySelectorAll<HTMLElement>('tr[data-offer]')) {
        const cells = [...row.querySelectorAll('td')].map(cell => ({
          text: cell.textContent?.trim() ?? '',
          title: cell.querySelector('[title]')?.getAttribute('title') ?? '',
        }))
        rows.set(row.dataset['offer'] ?? '', { cells })
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
 * In the page: ten thousand rows of those cells, as plainly as can be: as many elements as are in sight, placed
 * absolutely and written anew where another row comes to be in sight; a field that filters and heads that sort.
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

  const all = Array.from({ length: count }, (_, index) => {
    const { cells } = table.rows[index % table.rows.length] ?? { cells: [] }
    const numbers = cells.map(({ text }) => Number.parseFloat(text.replace(/[^\d.]/g, '')) + index / count)
    return {
      index,
      cells,
      numbers,
      text: cells
        .map(cell => cell.text)
        .join(' ')
        .toLowerCase(),
    }
  })
  let shown = all
  const slots = Array.from({ length: Math.ceil(table.height / height) + 1 }, () => {
    const row = document.createElement('div')
    row.style.cssText = `position:absolute;top:0;left:0;right:0;height:${height}px;line-height:${height}px;border-bottom:1px solid var(--line)`
    let left = 0
    const cells = table.columns.map(({ width, figure }, at) => {
      const cell = document.createElement('div')
      cell.style.cssText = `position:absolute;left:${left}px;width:${width - 12}px;height:100%;overflow:hidden;white-space:nowrap;text-overflow:ellipsis;text-align:${figure ? 'right' : 'left'}`
      left += width
      const inner = document.createElement(at === table.columns.length - 1 ? 'button' : 'span')
      if (inner instanceof HTMLButtonElement)
        inner.style.cssText =
          'height:28px;padding:0 10px;border:1px solid var(--line-strong);border-radius:var(--radius);background:var(--raised)'
      cell.append(inner)
      row.append(cell)
      return inner
    })
    scroller.append(row)
    return { row, cells, record: undefined as (typeof all)[number] | undefined, top: -1 }
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
      slot.record = record
      slot.row.hidden = record === undefined
      slot.cells.forEach((cell, column) => {
        const said = record?.cells[column]
        if (!said) return
        if (cell.textContent !== said.text) cell.textContent = said.text
        if (cell.title !== said.title) cell.title = said.title
      })
    }
    space.style.height = `${shown.length * height}px`
  }
  scroller.addEventListener('scroll', draw)
  // As Berth does, a number is not found within a longer one: else other keys would change the rows than there.
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
