import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPage } from '#desktop/page-origin.ts'
import { textMenu } from '#desktop/text-menu.ts'
import { arrangement, type Box, besideTray, visiblePlace } from '#desktop/window/placing.ts'

test.each([
  'app://berth/',
  'app://berth/index.html',
  'app://berth/index.html#/instances',
  'app://berth/assets/a.js',
])('%s is the page', address => expect(isPage(address)).toBe(true))

test.each([
  'app://other/',
  'app://berth.example/',
  'app://berth:1/',
  'app://user@berth/',
  'app:berth',
  'https://berth/',
  'file:///berth/index.html',
  'about:blank',
  'data:text/html,app://berth/',
  'javascript:app://berth/',
  'blob:app://berth/x',
  '',
])('%j is not', address => expect(isPage(address)).toBe(false))

const screenOf = (bounds: Box, bar = 0) => ({
  bounds,
  workArea: { ...bounds, y: bounds.y + bar, height: bounds.height - bar },
})
const laptop = screenOf({ x: 0, y: 0, width: 1440, height: 900 }, 24)
const beside = screenOf({ x: 1440, y: -200, width: 2560, height: 1440 })
const size = { width: 1080, height: 720 }

test('a visible position stays unchanged', () => {
  const place = { x: 1600, y: -100, ...size }
  expect(visiblePlace(place, [laptop, beside])).toEqual(place)
})

test('a position on a screen that is gone moves to a remaining one', () => {
  expect(visiblePlace({ x: 2800, y: 300, ...size }, [laptop])).toEqual({ x: 360, y: 180, ...size })
})

test('a window larger than the screen shrinks to its work area', () => {
  expect(visiblePlace({ x: -50, y: -50, width: 4000, height: 3000 }, [laptop])).toEqual(laptop.workArea)
})

test('each arrangement of screens has its own name, in any order', () => {
  expect(arrangement([laptop, beside])).toBe(arrangement([beside, laptop]))
  expect(arrangement([laptop])).not.toBe(arrangement([laptop, beside]))
})

test('beside the tray the window is above a bottom bar and below a top one', () => {
  const bottom = besideTray(size, { x: 1300, y: 876, width: 24, height: 24 }, [laptop])
  expect(bottom).toEqual({ x: 360, y: 148, ...size })
  const top = besideTray(size, { x: 700, y: 0, width: 24, height: 24 }, [laptop])
  expect(top).toEqual({ x: 172, y: 32, ...size })
})

test('any stored position is moved fully onto some screen', () => {
  const length = fc.integer({ min: 100, max: 5000 })
  const at = fc.integer({ min: -8000, max: 8000 })
  const box = fc.record({ x: at, y: at, width: length, height: length })
  fc.assert(
    fc.property(
      box,
      fc.array(
        box.map(bounds => screenOf(bounds, 20)),
        { minLength: 1, maxLength: 4 },
      ),
      (place, screens) => {
        const seen = visiblePlace(place, screens)
        const inside = ({ workArea: area }: (typeof screens)[number]) =>
          seen.x >= area.x &&
          seen.y >= area.y &&
          seen.x + seen.width <= area.x + area.width &&
          seen.y + seen.height <= area.y + area.height
        expect(screens.some(inside)).toBe(true)
      },
    ),
    { numRuns: 500 },
  )
})

const editFlags = { canCut: true, canCopy: true, canPaste: true, canSelectAll: true }
const roles = (clicked: Parameters<typeof textMenu>[0]) =>
  textMenu(clicked).flatMap(({ role, enabled }) => (role ? [enabled ? role : `no ${role}`] : []))

test('an editable text has Cut, Copy, Paste and Select all', () => {
  const clicked = {
    isEditable: true,
    selectionText: '',
    editFlags: { ...editFlags, canCut: false, canCopy: false },
  }
  expect(roles(clicked)).toEqual(['no cut', 'no copy', 'paste', 'selectAll'])
})

test('selected text can be copied, and without a selection there is no menu', () => {
  expect(roles({ isEditable: false, selectionText: 'a word', editFlags })).toEqual(['copy'])
  expect(textMenu({ isEditable: false, selectionText: ' ', editFlags })).toEqual([])
})
