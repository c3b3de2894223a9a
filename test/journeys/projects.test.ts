import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { patience } from '#test/berth/browser.ts'
import { test } from '#test/berth/pages.ts'
import { openProjectPage } from '#test/e2e/project-steps.ts'
import { noSshd } from '../integration/ssh/own-root.ts'
import { freePort } from '../integration/ssh/sshd.ts'

const training = `import sys, time
for epoch in range(1, 4):
    print(f"epoch {epoch} loss {1 / epoch:.3f}", flush=True)
    time.sleep(0.3)
open(sys.argv[1], "w").write("trained\\n")
`
const spec = `name: digits
machine: { gpu: [RTX 4090, RTX 3090], price: 5 }
env: { TOKEN: { secret: HUB_TOKEN } }
setup: mkdir -p out
run: python3 train.py out/model.txt
results: out
stop: { hours: 2, dollars: 4 }
`

test.skipIf(noSshd)(
  `a folder is run with a click and a confirmation, and its results are downloaded${noSshd}`,
  async ({ start }) => {
    const { sim, page, folder } = await openProjectPage(start, {
      'berth.yaml': spec,
      'train.py': training,
      '.env': 'A=1\n',
    })
    const project = page.getByRole('main')

    await project.getByRole('button', { name: 'Run digits…' }).click()
    const sheet = page.getByRole('dialog', { name: 'Run digits' })
    await sheet.getByText('RTX', { exact: false }).first().waitFor()
    await sheet.getByRole('button', { name: 'Choose another…' }).click()
    const other = sheet.getByRole('radiogroup', { name: 'Machine', exact: true }).locator('label').nth(2)
    await other.click()
    expect(await other.getByRole('radio').isChecked()).toBe(true)
    const price = (await other.locator('b').textContent()) ?? ''
    await sheet.locator('.figures').getByText(price, { exact: true }).waitFor()
    const confirm = sheet.getByRole('button', { name: /^Run these commands for at most \$/ })
    await expect.poll(() => sheet.getByLabel('Command', { exact: true }).textContent()).toContain('train.py')
    expect(await sheet.getByRole('checkbox', { name: '.env' }).isChecked()).toBe(false)
    await confirm.click()
    await sheet.getByText('Enter its value.').waitFor()
    await sheet.getByLabel('HUB_TOKEN').fill('hub-token-value')
    await confirm.click()
    await sheet.waitFor({ state: 'detached' })

    const run = project.getByRole('group', { name: 'Run of digits' })
    await run
      .getByRole('log', { name: /^Output of/ })
      .filter({ hasText: 'epoch 3' })
      .waitFor()
    await run.getByText('1 file downloaded').waitFor()
    expect(readFileSync(join(folder, 'out', 'model.txt'), 'utf8')).toBe('trained\n')
    expect(existsSync(join(folder, '.env'))).toBe(true)
    await expect
      .poll(async () => (await sim.api<{ instances: unknown[] }>('GET', '/api/v0/instances/')).instances, {
        timeout: patience,
      })
      .toEqual([])
    expect(await run.textContent()).toMatch(/\$\d+\.\d\d/)

    // Commands agreed to once need only a confirmation.
    await page.getByRole('button', { name: 'Run digits…' }).click()
    await sheet.getByRole('button', { name: /^Run for at most \$/ }).waitFor()
    expect(await sheet.getByLabel('HUB_TOKEN').count()).toBe(0)
    await page.keyboard.press('Escape')
  },
)

test('an error in berth.yaml shows its line; a machine without offers suggests changes', async ({
  start,
}) => {
  const { page, folder } = await openProjectPage(
    start,
    { 'berth.yaml': 'run: python3 train.py\nmachine: { gpus: H100 }\n' },
    { servers: 0 },
  )
  await page.getByText('Line 2, column 12').waitFor()
  writeFileSync(join(folder, 'berth.yaml'), 'run: python3 train.py\nmachine: { gpu: H100, price: 0.01 }\n')
  await page.getByRole('button', { name: 'More: digits' }).click()
  await page.getByRole('menuitem', { name: 'Read berth.yaml again' }).click()
  await page.getByRole('button', { name: 'Run digits…' }).click()
  const sheet = page.getByRole('dialog', { name: 'Run digits' })
  await sheet.getByText(/^Allow a higher price, other GPUs, unverified hosts /).waitFor()
  expect(await sheet.getByRole('button', { name: /^Run/ }).isDisabled()).toBe(true)
})

test('a form sets up a folder without a berth.yaml, and shows the price with or without one', async ({
  start,
}) => {
  const { page, folder } = await openProjectPage(start, { 'train.py': training }, { servers: 0 })
  await page.getByRole('button', { name: 'Set up digits…' }).click()
  const form = page.getByRole('dialog', { name: 'Set up digits' })
  await form.getByRole('button', { name: 'Save, then see the price' }).click()
  await form.getByText('Enter the command to run.').waitFor()
  await form.getByLabel('Command', { exact: true }).fill('python3 train.py')
  await form.getByLabel('GPU', { exact: true }).fill('RTX 4090, RTX 3090')
  await form.getByRole('radiogroup', { name: 'Begin with' }).getByText('Template').click()
  await form.getByRole('button', { name: 'Template: none' }).click()
  // By keyboard: Enter takes the first one.
  const find = page.getByLabel('Find in templates')
  await find.fill('pytorch')
  const found = page.getByRole('list', { name: 'Templates' }).getByRole('button')
  await found.filter({ hasText: 'PyTorch' }).first().waitFor()
  await find.press('ArrowDown')
  await expect.poll(() => found.first().evaluate(button => button === document.activeElement)).toBe(true)
  await page.keyboard.press('ArrowUp')
  await find.press('Enter')
  await form.getByRole('button', { name: /^Template: .*PyTorch/ }).waitFor()
  await form.getByLabel('Results (optional)').fill('out')

  // What few need is in a part that opens for an error in it.
  const more = form.locator('summary').filter({ hasText: 'More' })
  await more.click()
  await form.getByLabel('Keep the machine').fill('20')
  await form.getByLabel('Machines', { exact: true }).fill('4')
  await more.click()
  await form.getByRole('button', { name: 'Save, then see the price' }).click()
  await form.getByText('Several machines don’t wait for the next run, so remove keep.').waitFor()
  await form.getByLabel('Machines', { exact: true }).fill('')

  await form.getByRole('switch', { name: 'Save as berth.yaml' }).uncheck()
  await form.getByRole('button', { name: 'See the price' }).click()
  const sheet = page.getByRole('dialog', { name: 'Run digits' })
  await sheet.getByRole('button', { name: /^Run these commands for at most \$/ }).waitFor()
  expect(await sheet.getByLabel('Command', { exact: true }).textContent()).toBe('python3 train.py')
  // Keys scroll the plan: they turn no switch, and Enter neither closes nor runs it.
  const focused = () => page.evaluate(() => document.activeElement?.matches('[role=dialog] .body'))
  await expect.poll(focused).toBe(true)
  await page.keyboard.press('Enter')
  expect(existsSync(join(folder, 'berth.yaml'))).toBe(false)
  await sheet.getByRole('button', { name: 'Back' }).click()

  expect(await form.getByLabel('GPU', { exact: true }).inputValue()).toBe('RTX 4090, RTX 3090')
  await form.getByRole('button', { name: 'Save, then see the price' }).click()
  await sheet.getByText('Berth downloads out.').waitFor()
  expect(readFileSync(join(folder, 'berth.yaml'), 'utf8')).toMatch(
    /^machine:\n {2}gpu: \[ RTX 4090, RTX 3090 \]\ntemplate: \w+\nrun: python3 train\.py\nresults: out\nstop: \{ hours: 8 \}\nkeep: 20m\n$/,
  )
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Run digits…' }).waitFor()
  expect(await page.getByRole('button', { name: 'Set up digits…' }).count()).toBe(0)
})

const serving = `import http.server, pathlib, sys
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<h1>Losses</h1>")
    def log_message(self, *rest):
        pass
print("\\r 45%|####      | 45/100 [00:10<00:12,  4.39it/s]", end="", flush=True)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
`

test.skipIf(noSshd)(
  `a run shows its command’s progress, and opens the ports of its file${noSshd}`,
  async ({ start }) => {
    const port = await freePort()
    const file = `name: digits\nports: [${port}]\nrun: python3 serve.py ${port}\nstop: { hours: 2 }\n`
    const { page, folder } = await openProjectPage(start, { 'berth.yaml': file, 'serve.py': serving })
    await page.getByRole('button', { name: 'Run digits…' }).click()
    await page.getByRole('button', { name: /^Run these commands for at most/ }).click()
    const run = page.getByRole('group', { name: 'Run of digits' })
    const bar = run.getByRole('progressbar', { name: 'Progress of digits' })
    await expect.poll(() => bar.getAttribute('aria-valuenow'), { timeout: patience }).toBe('45')
    await run.getByText('12 s left').waitFor()
    await page.getByRole('button', { name: 'Run digits…' }).click()
    const sheet = page.getByRole('dialog', { name: /^Run / })
    await sheet.getByText('A run of digits is still running.').waitFor()
    await sheet.getByText('RTX', { exact: false }).first().waitFor()
    expect(await sheet.getByRole('button', { name: /^Run for at most/ }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    const opening = page.context().waitForEvent('page')
    await run.getByRole('button', { name: `Open port ${port} of digits` }).click()
    await (await opening).getByRole('heading', { name: 'Losses' }).waitFor()
    await run.getByRole('button', { name: 'Destroy the machine of digits…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Destroy', exact: true }).click()
    await run.getByText('Cancelled', { exact: true }).waitFor()
    expect(await run.getByRole('button', { name: /^Open port/ }).count()).toBe(0)

    // Runs again as it was, despite the changed file, then compares the two.
    writeFileSync(join(folder, 'berth.yaml'), 'run: echo other\n')
    // The first command still has the port: the destroyed machine is only simulated.
    writeFileSync(join(folder, 'serve.py'), 'import time\ntime.sleep(600)\n')
    await run.getByRole('button', { name: 'More: run of digits' }).click()
    await page.getByRole('menuitem', { name: 'Run again…' }).click()
    await sheet.getByRole('button', { name: /^Run for at most \$/ }).waitFor()
    await sheet.getByText('The folder is sent as it is now.').waitFor()
    await sheet.getByText('Command', { exact: true }).click()
    expect(await sheet.getByLabel('Command', { exact: true }).textContent()).toBe(`python3 serve.py ${port}`)
    await sheet.getByRole('button', { name: /^Run for at most \$/ }).click()
    await page.getByRole('button', { name: 'Destroy the machine of digits…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Destroy', exact: true }).click()
    await page.getByText(/^2 runs, /).waitFor()
    await run.first().getByText('Cancelled', { exact: true }).waitFor()
    await run.first().getByRole('button', { name: 'More: run of digits' }).click()
    await page.getByRole('menuitem', { name: 'Compare…' }).click()
    const comparison = page.getByRole('dialog', { name: 'Compare two runs of digits' })
    await comparison.getByText('The same, line by line.').waitFor()
    await comparison.getByLabel('Output of the first run').filter({ hasText: '45%' }).waitFor()
    expect(await comparison.getByRole('row', { name: /^Ended as/ }).textContent()).toMatch(
      /Cancelled.*Cancelled/,
    )
  },
)

test.skipIf(noSshd)(
  `a failed run offers to resume, download and destroy, with its machine’s cost${noSshd}`,
  async ({ start }) => {
    const file = 'run: mkdir -p out; echo 90 > out/last.ckpt; exit 3\nresults: out\nstop: { hours: 2 }\n'
    const { page, folder } = await openProjectPage(start, { 'berth.yaml': file })
    await page.getByRole('button', { name: 'Run digits…' }).click()
    const sheet = page.getByRole('dialog', { name: 'Run digits' })
    await sheet
      .getByText(/You’re reminded 1 d later\. Once the run has cost \$.* in all, it’s destroyed/)
      .waitFor()
    await sheet.getByRole('radio', { name: /^Destroy after 1 d, \$/ }).check()
    await sheet.getByText(/It’s destroyed 1 d later, with all that isn’t downloaded by then\.$/).waitFor()
    await sheet.getByRole('button', { name: /^Run these commands/ }).click()
    const run = page.getByRole('group', { name: 'Run of digits' })
    await run.getByText('Failed with exit code 3').waitFor()
    await run.getByText(/Its machine costs \$.* until then\..*It’s destroyed in .*, as you chose\./).waitFor()
    expect(readFileSync(join(folder, 'out', 'last.ckpt'), 'utf8')).toBe('90\n')
    await run.getByRole('button', { name: 'Resume' }).waitFor()
    await run.getByRole('button', { name: 'Download the results of digits' }).waitFor()
    await run.getByRole('button', { name: 'Destroy the machine of digits…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Destroy', exact: true }).click()
    await run.getByText('Cancelled', { exact: true }).waitFor()
  },
  4 * patience,
)
