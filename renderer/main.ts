import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/jetbrains-mono/wght.css'
import './styles/base.css'
import { mount } from 'svelte'
import App from './App.svelte'
import { connect } from './berth/connect.ts'
import { Page } from './berth/page.svelte.ts'

const target = document.getElementById('app')
if (target) {
  const page = new Page()
  const connected = connect(page)
  mount(App, { target, props: { page, connected } })
}
