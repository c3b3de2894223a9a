import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { transformWithOxc } from 'vite'
import { expect } from 'vitest'
import { test } from '../berth/pages.ts'

const file = 'renderer/frame/keepFocus.ts'

/** What happens to a list of up to eight rows; a row is named by its place, counted on around the list's end. */
const step = fc.record({
  /** A row is removed or moved to the list's end; which of its controls has the focus, or one of its details. */
  what: fc.constantFrom('remove', 'move'),
  from: fc.constantFrom('link', 'button', 'details'),
  row: fc.nat(7),
  /** Whether the mouse answers a question first, which takes the focus until its row is gone. */
  asked: fc.boolean(),
})

test('the focus goes on to the next row when its own is removed, and with its row when that is moved', async ({
  browser,
}) => {
  const { code } = await transformWithOxc(await readFile(file, 'utf8'), file)
  const page = await browser.newPage()
  await page.setContent('<div id="root"><main></main></div>')
  await page.addScriptTag({ type: 'module', content: `${code}\nwindow.keepFocus = keepFocus` })
  await page.waitForFunction(() => 'keepFocus' in window)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), async steps => {
      const wrong = await page.evaluate(async steps => {
        const { keepFocus } = window as unknown as { keepFocus: (root: Element) => () => void }
        const root = document.querySelector('#root')
        const main = root?.querySelector('main')
        if (!root || !main) return 'no root'
        const rowOf = (name: number) =>
          `<tr><td><button>Select ${name}</button><a href="#${name}">${name}</a></td><td><button>Stop ${name}</button></td></tr>`
        main.innerHTML = `<div><div><table><tbody>${Array.from({ length: 8 }, (_, at) => rowOf(at)).join('')}</tbody></table></div></div>`
        const list = main.querySelector('tbody')
        const both = main.firstElementChild
        const end = keepFocus(root)
        const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
        const told: string[] = []
        for (const { what, from, row, asked } of steps) {
          if (!list || !both || list.rows.length < 2) break
          const at = row % list.rows.length
          const target = list.rows[at]
          if (!target) break
          let details: Element | undefined
          if (from === 'details') {
            target.setAttribute('aria-current', 'true')
            details = document.createElement('div')
            details.setAttribute('data-details', '')
            details.innerHTML = '<button>More</button><button>Extend</button>'
            both.append(details)
          }
          const focused = (details ?? target).querySelector<HTMLElement>(from === 'link' ? 'a' : 'button')
          focused?.focus()
          // As with the second click of two: it has the focus already.
          focused?.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))
          let question: Element | undefined
          if (asked) {
            question = document.createElement('div')
            question.innerHTML = '<button>Answer</button>'
            document.body.append(question)
            const answer = question.querySelector('button')
            answer?.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))
            answer?.focus()
            await drawn()
          }
          const isClosed = what === 'remove' || asked
          const next = what === 'move' ? target : (list.rows[at + 1] ?? list.rows[at - 1])
          if (what === 'move') list.append(target)
          else target.remove()
          if (isClosed) details?.remove()
          else if (details) focused?.remove()
          await drawn()
          question?.remove()
          await drawn()
          const { activeElement } = document
          const isRight = (details && !isClosed ? details : next)?.contains(activeElement)
          if (!isRight)
            told.push(
              `${what} ${from} ${at} of ${list.rows.length}: ${activeElement?.outerHTML.slice(0, 60)}`,
            )
          details?.remove()
          for (const each of list.rows) each.removeAttribute('aria-current')
        }
        end()
        return told.join('\n')
      }, steps)
      expect(wrong).toBe('')
    }),
    { numRuns: 12 },
  )
  await page.close()
})
