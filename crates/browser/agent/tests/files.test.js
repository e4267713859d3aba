// @ts-check
import { fileNameFor, putFile } from "../files.js";
import { equal, show } from "./check.js";

export const cases = {
  "the file is of the first type that the field accepts": () => {
    const nameFor = (/** @type {string} */ accept) => {
      return fileNameFor(show(`<input type=file accept="${accept}">`));
    };
    equal(nameFor(""), "argiope.txt");
    equal(nameFor("image/*"), "argiope.png");
    equal(nameFor(".JPG, .jpeg"), "argiope.jpg");
    equal(nameFor("application/pdf"), "argiope.pdf");
    equal(nameFor(".xlsx,text/csv"), "argiope.csv");
    equal(nameFor(".xlsx"), "argiope.xlsx");
    equal(nameFor(".../etc/passwd"), "argiope.txt");
  },
  "a file is put into its field, and pictures can be decoded": async () => {
    for (const name of ["a.png", "a.jpg", "a.gif"]) {
      const input = show("<input type=file required>");
      putFile(input, name, window);
      equal([input.files[0].name, input.validity.valid], [name, true]);
      const picture = await createImageBitmap(input.files[0]);
      equal([name, picture.width, picture.height], [name, 1, 1]);
    }
  },
  "a file always has the same bytes": async () => {
    const input = show("<input type=file>");
    putFile(input, "data.json", window);
    const [file] = input.files;
    equal([file.type, file.lastModified], ["application/json", 0]);
    equal(JSON.parse(await file.text()), { name: "argiope", value: 7 });
    putFile(input, "a.unknown", window);
    equal(input.files[0].type, "application/octet-stream");
  },
};
