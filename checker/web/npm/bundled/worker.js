import { check, init, position } from "nonfinite";
onmessage = async ({ data }) => {
  await init();
  postMessage([position(data), (await check(new Blob(["no model"]))).error]);
};
