import { render } from "preact"
import { PortalApp } from "./PortalApp.tsx"

render(<PortalApp />, document.getElementById("app")!)
