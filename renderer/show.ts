import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/jetbrains-mono/wght.css'
import './styles/base.css'
import { mount } from 'svelte'
import App from './App.svelte'
import type { PageConnection } from './bridge/link.ts'
import { Page } from './bridge/page.svelte.ts'

/** Shows Berth in an element; without a connection, how to get one. */
export function show(target: HTMLElement, connection: PageConnection | undefined): void {
  const page = new Page()
  if (connection) page.attach(connection)
  // Berth opens on Instances, part of the first load, or on Home, which loads while the page waits for the State.
  if (!page.state) void import('./screens/home/Home.svelte').catch(() => undefined)
  mount(App, { target, props: { page, connected: connection !== undefined } })
}
